/** The string formats a form may ask for (SPEC EL-4): email, uri, date, date-time. */

export const textFormats = ['email', 'uri', 'date', 'date-time'] as const;

export type TextFormat = (typeof textFormats)[number];

/** What a format is called in a message to a person. */
export const formatNames = {
  email: 'an email address',
  uri: 'an absolute URI such as "https://example.com/"',
  date: 'a date such as "2026-07-28"',
  'date-time': 'a date and time with offset such as "2026-07-28T12:00:00Z"',
} as const satisfies Record<TextFormat, string>;

/** Tells whether a value is one of the formats Holdfast checks. Others are annotations and are not checked. */
export function isTextFormat(value: unknown): value is TextFormat {
  return textFormats.some((format) => format === value);
}

/** Tells whether a text has a format: RFC 5321 mailboxes, RFC 3986 URIs with a scheme, RFC 3339 dates and times. */
export function hasFormat(format: TextFormat, text: string): boolean {
  switch (format) {
    case 'email':
      return isEmail(text);
    case 'uri':
      return isUri(text);
    case 'date':
      return isDate(text);
    case 'date-time':
      return isDateTime(text);
  }
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (at < 1 || local.length > 64 || domain.length > 253) return false;
  return isLocalPart(local) && (isDomain(domain) || /^\[[0-9a-f:.]+\]$/i.test(domain));
}

function isLocalPart(local: string): boolean {
  if (/^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u.test(local)) return true;
  return local.split('.').every((atom) => /^[^\s\p{Cc}"(),.:;<>@[\\\]]+$/u.test(atom));
}

function isDomain(domain: string): boolean {
  return domain
    .split('.')
    .every((label) => label.length <= 63 && /^[\p{L}\p{N}\p{M}-]+$/u.test(label) && !/^-|-$/.test(label));
}

function isUri(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i.test(text)) return false;
  if (!text.includes('://')) return true;
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function isDateTime(text: string): boolean {
  const found = /^(.{10})t(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|([+-])(\d{2}):(\d{2}))$/i.exec(text);
  if (found === null || !isDate(found[1] ?? '')) return false;
  const [hour, minute, second] = [Number(found[2]), Number(found[3]), Number(found[4])];
  const offset = { sign: found[5] === '-' ? -1 : 1, hour: Number(found[6] ?? 0), minute: Number(found[7] ?? 0) };
  if (hour > 23 || minute > 59 || offset.hour > 23 || offset.minute > 59) return false;
  if (second < 60) return true;
  const utcMinutes = hour * 60 + minute - offset.sign * (offset.hour * 60 + offset.minute);
  return second === 60 && (utcMinutes + 2 * 1_440) % 1_440 === 1_439;
}
