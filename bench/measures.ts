/** The list of measures: each is one file of `measures/`, run in a process of its own with these arguments. */

export interface Measure {
  /** What `--only` takes. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

const eras = ['legacy', 'modern'];

export const measures: readonly Measure[] = [
  ...['memory', 'stdio', 'http'].flatMap((wire) =>
    eras.map((era) => ({ name: wire, file: 'calls', args: [wire, era] })),
  ),
  { name: 'own-cost', file: 'own-cost', args: [] },
  { name: 'replacement', file: 'replacement', args: [] },
  { name: 'threads', file: 'threads', args: ['1000', 'none'] },
  { name: 'threads', file: 'threads', args: ['10000', 'none'] },
  { name: 'threads', file: 'threads', args: ['1000', 'memory'] },
  { name: 'questions', file: 'questions', args: [] },
  { name: 'imports', file: 'imports', args: [] },
];
