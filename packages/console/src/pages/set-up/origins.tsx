/** The sites whose pages may use a browser token. */
import { FirsthandError } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { account, readAccount } from '../../reading/account.ts';

/** Adds or removes an origin. Reloads the list first, because another page may have changed it. */
const setListed = async (origin: string, isIn: boolean): Promise<void> => {
  await readAccount();
  const others = (account.peek()?.accountOrigin ?? []).filter((each) => each !== origin);
  await api.updateAccount({ accountOrigin: isIn ? [...others, origin] : others });
};
const change = (origin: string, isIn: boolean, done: string) =>
  act(() => setListed(origin, isIn), { done, undo: () => setListed(origin, !isIn), refresh: readAccount });

export const allowOrigin = (origin: string): Promise<boolean> =>
  change(origin, true, `Pages on ${origin} may now use the tag.`);

/**
 * Normalizes a typed origin: removes a trailing slash and adds a missing scheme (`http` for loopback hosts, otherwise
 * `https`).
 */
const parseOrigin = (text: string): string => {
  const typed = text.trim().replace(/\/$/, '');
  if (typed === '' || typed.includes('://')) return typed;
  return `${/^(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(typed) ? 'http' : 'https'}://${typed}`;
};

const addOrigin = async (origin: string): Promise<string> => {
  try {
    await setListed(origin, true);
    return '';
  } catch (error) {
    return error instanceof FirsthandError && error.field?.startsWith('accountOrigin')
      ? `${origin} is not a valid site. Enter only the scheme and host: https://shop.example, or https://*.shop.example for all subdomains.`
      : messageOf(error);
  }
};

export const Origins = () => {
  const origins = account.value?.accountOrigin ?? [];
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const add = async (event: Event) => {
    event.preventDefault();
    const origin = parseOrigin(text);
    if (origin === '') return;
    const rejection = await addOrigin(origin);
    setProblem(rejection);
    if (rejection !== '') return;
    setText('');
    await act(() => Promise.resolve(), {
      done: `Pages on ${origin} may now use the tag.`,
      undo: () => setListed(origin, false),
      refresh: readAccount,
    });
  };
  return (
    <Card title="Sites">
      <div id="origins">
        {origins.length === 0 ? (
          <p>Any site can send events. Once you add a site, only listed sites can.</p>
        ) : (
          <ul class="origins">
            {origins.map((origin) => (
              <li key={origin}>
                <code>{origin}</code>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${origin}`}
                  onClick={() => change(origin, false, `Removed ${origin}.`)}
                >
                  Remove
                </button>
              </li>
            ))}
          </ul>
        )}
        <form class="one-field" onSubmit={add}>
          <input
            type="text"
            inputMode="url"
            aria-label="Site"
            aria-invalid={problem !== ''}
            aria-describedby={problem ? 'origin-problem' : undefined}
            placeholder="https://shop.example"
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setProblem('');
            }}
          />
          <button type="submit">Add</button>
        </form>
        {problem && (
          <p id="origin-problem" class="field-problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    </Card>
  );
};
