/** Warnings a peer can cause at will, kept few: the first three, then one at each power of ten. */

export class WarningCounter {
  readonly #report: (message: string) => void;
  #count = 0;

  constructor(report: (message: string) => void) {
    this.#report = report;
  }

  add(message: string): void {
    this.#count += 1;
    if (this.#count <= 3) this.#report(message);
    else if (/^10+$/.test(String(this.#count))) this.#report(`${message} (${String(this.#count)} times so far)`);
  }
}

const control = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** A short, printable piece of text that came from a server. */
export function describeLine(line: string): string {
  const text = line.slice(0, 200).replaceAll(control, ' ').trim();
  return line.length > 200 ? `${text}…` : text;
}
