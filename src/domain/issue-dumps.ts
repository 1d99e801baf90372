/** Says in words what a schema found wrong: the schemas of the SDK put their findings into messages as JSON. */
import { isRecord } from './json.ts';

/** Most findings that are said. */
const maxFindings = 3;

/** The message with words in the place of such JSON; any other is given back as it is. */
export function withoutDump(message: string): string {
  const at = message.indexOf('[\n  {');
  if (at === -1) return message;
  const findings = parseFindings(message.slice(at));
  if (findings === undefined) return message;
  return `${message.slice(0, at).replace(/\$?\w*Error: $/u, '')}${findings.slice(0, maxFindings).join('; ')}`;
}

function parseFindings(text: string): readonly string[] | undefined {
  try {
    const given: unknown = JSON.parse(text);
    if (!Array.isArray(given)) return undefined;
    const findings = given.map(wordsOf);
    return findings.every((finding) => finding !== undefined) ? findings : undefined;
  } catch {
    return undefined;
  }
}

function wordsOf(finding: unknown): string | undefined {
  const { path, message } = isRecord(finding) ? finding : {};
  if (!Array.isArray(path) || typeof message !== 'string') return undefined;
  const said = message
    .replace(/^Invalid input: /u, '')
    .replace(/, received undefined$/u, ', got nothing')
    .replace(', received ', ', got ');
  return path.length === 0 ? said : `"${path.join('.')}": ${said}`;
}
