/** What every measure shares: each is a process of its own that writes one JSON value to stdout. */

/** A fast run: fewer and shorter rounds, wider spread. */
export const isQuick = process.env['BENCH_QUICK'] === '1';

/** Says on stderr what is being measured. */
export function progress(text: string): void {
  process.stderr.write(`  ${text}\n`);
}

/** Writes the result; called once, last. */
export function report(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Collects garbage, so that memory is what is held. @throws Error without `--expose-gc`. */
export async function collectGarbage(): Promise<void> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('Expected to run with --expose-gc.');
  for (let pass = 0; pass < 3; pass++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    gc();
  }
}
