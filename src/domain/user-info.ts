/** User info in urls: secret whatever its length, and known by its place alone (SPEC SE-1). */

/**
 * `://` with what stands before the `@` of an authority, its slashes escaped in JSON or not. The second form is a password
 * with a `/`, `?` or `#` in it, which is no url by the letter and written all the same; a port is none.
 */
const plain = /(:(?:\\?\/){2})([^\s/?#"<>]+|[^\s/?#@:"'{[]*:(?!\d+[/?#])[^\s@"]{1,256})@/g;
/** A whole text that is a url: quotes are part of it. */
const whole = /^([a-z][\w+.-]*:\/\/)([^\s/?#]+)@/i;
const percentEncoded = /(%3a(?:%2f){2})((?:(?!%2f|%3f|%23)[^\s/?#&"])+)%40/gi;

/** Placeholders alone are no secret: their values are. */
const references = /^(?:\$\{[\w:.]+\}|\{env:\w+\}|:)+$/;

/** The text with `[redacted]` for the user info of every url in it; the same text when there is none. */
export function withoutUserInfo(text: string): string {
  const shown = text.includes('@') ? text.replace(whole, hide).replace(plain, hide) : text;
  return shown.includes('%40') ? shown.replace(percentEncoded, '$1[redacted]%40') : shown;
}

function hide(found: string, start: string, info: string): string {
  return references.test(info) ? found : `${start}[redacted]@`;
}
