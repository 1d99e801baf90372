/** Decodes punycode (RFC 3492), so that a person can read an internationalised host. */

const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;
const firstBias = 72;
const firstCode = 128;
const maxLabelLength = 63;

/**
 * Decodes what follows `xn--` in one label of a host.
 *
 * `undefined` when it is not punycode, is longer than a label may be, or names a code point Unicode does not have.
 */
export function decodePunycode(encoded: string): string | undefined {
  if (encoded.length > maxLabelLength) return undefined;
  const delimiter = encoded.lastIndexOf('-');
  const plain = delimiter > 0 ? encoded.slice(0, delimiter) : '';
  if (/[^\0-\x7f]/.test(plain)) return undefined;
  const codes = plain.split('').map((letter) => letter.charCodeAt(0));
  let at = delimiter > 0 ? delimiter + 1 : 0;
  let code = firstCode;
  let bias = firstBias;
  let index = 0;
  while (at < encoded.length) {
    const start = index;
    let weight = 1;
    for (let k = base; ; k += base) {
      const digit = digitOf(encoded[at]);
      if (digit === undefined) return undefined;
      at += 1;
      index += digit * weight;
      const threshold = Math.min(Math.max(k - bias, tMin), tMax);
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    bias = adapt(index - start, codes.length + 1, start === 0);
    code += Math.floor(index / (codes.length + 1));
    index %= codes.length + 1;
    if (!isScalar(code)) return undefined;
    codes.splice(index, 0, code);
    index += 1;
  }
  return String.fromCodePoint(...codes);
}

function digitOf(letter: string | undefined): number | undefined {
  if (letter === undefined || !/^[a-z0-9]$/i.test(letter)) return undefined;
  return letter >= '0' && letter <= '9' ? Number(letter) + 26 : letter.toLowerCase().charCodeAt(0) - 97;
}

function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? damp : 2));
  rest += Math.floor(rest / count);
  let k = 0;
  while (rest > ((base - tMin) * tMax) / 2) {
    rest = Math.floor(rest / (base - tMin));
    k += base;
  }
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew));
}

function isScalar(code: number): boolean {
  return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}
