import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = fileURLToPath(new URL('./src/', import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^holdfast$/, replacement: `${source}index.ts` },
      { find: /^holdfast\/([a-z0-9-]+)$/, replacement: `${source}$1/index.ts` },
    ],
  },
  test: {
    // `npm test` sets the exit code from the results; a late rejection anywhere must show in them.
    dangerouslyIgnoreUnhandledErrors: false,
    setupFiles: ['test/setup.ts'],
    env: { SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' },
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/integration/**', 'test/model-based/**', 'test/package/**'],
          // Some start real servers beside the code they prove, on machines with two cores.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'model-based',
          include: ['test/model-based/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // Real processes and sockets: one file at a time, so that a slow machine does not turn load into failures.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
