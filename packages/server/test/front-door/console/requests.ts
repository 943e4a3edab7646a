/** Sends requests as a browser does for the console's pages. */
import type { Fields, ParsedResponse, Scene } from '../../fixtures/scene.ts';

export const consoleOrigin = 'https://events.shop.example';

/** The headers of a console page's request. `sessionID` is the session for which the page was loaded. */
export const fromConsole = (cookie: string, sessionID = '1', origin = consoleOrigin): Record<string, string> => ({
  'X-Firsthand-Console': sessionID,
  'Sec-Fetch-Site': 'same-origin',
  Host: new URL(origin).host,
  Origin: origin,
  ...(cookie && { Cookie: cookie }),
});

export const signInWith = (
  scene: Pick<Scene, 'send'>,
  fields: Fields,
  cookie = '',
  origin = consoleOrigin,
  env?: object,
): Promise<ParsedResponse> =>
  scene.send(
    '/console/sign-in',
    {
      method: 'POST',
      headers: { ...fromConsole(cookie, '1', origin), 'Content-Type': 'application/json' },
      body: JSON.stringify(fields),
    },
    env,
  );

/** The cookie that a browser would send back. */
export const cookieFrom = (headers: Headers): string => (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
