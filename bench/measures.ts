/** The list of measures: each is one file of `measures/`, run in a process of its own with these arguments. */

/** The program of each measure. */
export const programs = {
  calls: new URL('./measures/calls.ts', import.meta.url),
  'own-cost': new URL('./measures/own-cost.ts', import.meta.url),
  replacement: new URL('./measures/replacement.ts', import.meta.url),
  threads: new URL('./measures/threads.ts', import.meta.url),
  questions: new URL('./measures/questions.ts', import.meta.url),
  imports: new URL('./measures/imports.ts', import.meta.url),
  configuration: new URL('./measures/configuration.ts', import.meta.url),
} as const;

export type MeasureFile = keyof typeof programs;

export interface Measure {
  /** What `--only` takes. */
  readonly name: string;
  readonly file: MeasureFile;
  readonly args: readonly string[];
}

const eras = ['legacy', 'modern'];

export const measures: readonly Measure[] = [
  ...['memory', 'stdio', 'http'].flatMap((wire) =>
    eras.map((era) => ({ name: wire, file: 'calls' as const, args: [wire, era] })),
  ),
  { name: 'own-cost', file: 'own-cost', args: [] },
  { name: 'replacement', file: 'replacement', args: [] },
  { name: 'threads', file: 'threads', args: ['1000', 'none'] },
  { name: 'threads', file: 'threads', args: ['10000', 'none'] },
  { name: 'threads', file: 'threads', args: ['1000', 'memory'] },
  { name: 'threads', file: 'threads', args: ['10000', 'shared'] },
  { name: 'questions', file: 'questions', args: [] },
  { name: 'imports', file: 'imports', args: [] },
  { name: 'configuration', file: 'configuration', args: [] },
];
