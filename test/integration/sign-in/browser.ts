/** A browser as far as signing in needs one: it keeps cookies, follows redirects and submits forms. */

/** What a person does at the pages of the authorization server. */
export interface Person {
  /** Default: signs in and consents. `abort` goes back without. */
  readonly does?: 'consent' | 'abort';
}

/** The page a browser ended at. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/** Opens a url and does what its pages ask, until there is no form left. `stopAt` is not opened: its url is the result. */
export async function browse(
  start: string,
  { does = 'consent' }: Person = {},
  stopAt: (url: string) => boolean = () => false,
): Promise<Page> {
  const cookies = new Map<string, string>();
  let url = start;
  let body: URLSearchParams | undefined;
  for (let steps = 0; steps < 30; steps += 1) {
    if (stopAt(url)) return { url, status: 0, text: '' };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: cookie === '' ? {} : { cookie },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';', 1);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const text = await response.text();
    body = undefined;
    if (location !== null) {
      url = new URL(location, url).href;
      continue;
    }
    const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
    if (action === undefined) return { url, status: response.status, text };
    const abort = /href="([^"]*\/abort)"/.exec(text)?.[1];
    if (does === 'abort' && abort !== undefined) {
      url = new URL(abort, url).href;
      continue;
    }
    const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1] ?? '';
    url = new URL(action, url).href;
    body = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: 'ada', password: 'any' } : {}) });
  }
  throw new Error(`Expected the pages to end, still at ${url}.`);
}
