/** The sites whose pages may use a browser token. */
import { FirsthandError } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { account, readAccount } from '../../reading/account.ts';

/** Another page may have changed the list: it is read before one origin is put in or taken out. */
const put = async (origin: string, isIn: boolean): Promise<void> => {
  await readAccount();
  const others = (account.peek()?.accountOrigin ?? []).filter((each) => each !== origin);
  await api.updateAccount({ accountOrigin: isIn ? [...others, origin] : others });
};
const change = (origin: string, isIn: boolean, done: string) =>
  act(() => put(origin, isIn), { done, undo: () => put(origin, !isIn), after: readAccount });

/** Lets the pages of an origin use the tag. */
export const allowOrigin = (origin: string): Promise<boolean> =>
  change(origin, true, `Pages of ${origin} may use the tag.`);

/** The origin that was typed, without a slash at its end. Without a scheme: with https, or http on the reader's own machine. */
const originIn = (text: string): string => {
  const typed = text.trim().replace(/\/$/, '');
  if (typed === '' || typed.includes('://')) return typed;
  return `${/^(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(typed) ? 'http' : 'https'}://${typed}`;
};

const problemWith = async (origin: string): Promise<string> => {
  try {
    await put(origin, true);
    return '';
  } catch (error) {
    return error instanceof FirsthandError && error.field?.startsWith('accountOrigin')
      ? `${origin} is not the address of a site. Write only the scheme and the host: https://shop.example, or https://*.shop.example for all hosts below it.`
      : messageOf(error);
  }
};

export const Origins = () => {
  const origins = account.value?.accountOrigin ?? [];
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const add = async (event: Event) => {
    event.preventDefault();
    const origin = originIn(text);
    if (origin === '') return;
    const refused = await problemWith(origin);
    setProblem(refused);
    if (refused !== '') return;
    setText('');
    await act(() => Promise.resolve(), {
      done: `Pages of ${origin} may use the tag.`,
      undo: () => put(origin, false),
      after: readAccount,
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
            aria-label="Origin of a site"
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
