/**
 * SPEC PE-5: the root entry's own code, minified and brotlied. Dependencies stay outside: users share them. So does what is
 * loaded on demand by `import()`: the transports of the first server of each kind, sign-ins, tasks, skills, plugins.
 */
const keepOnDemandOutside = {
  name: 'keep-on-demand-outside',
  setup: (build) => {
    build.onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

export default [
  {
    name: 'holdfast (own code)',
    path: 'dist/index.js',
    limit: '60 kB',
    modifyEsbuildConfig: (config) => ({
      ...config,
      plugins: [...(config.plugins ?? []), keepOnDemandOutside],
      packages: 'external',
      platform: 'node',
      format: 'esm',
    }),
  },
];
