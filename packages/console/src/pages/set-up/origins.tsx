/** The sites whose pages may use a browser token. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
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

/** Lets the pages of an origin use the tag. Returns whether that was done. */
export const allowOrigin = (origin: string): Promise<boolean> =>
  change(origin, true, `Pages of ${origin} may use the tag.`);

export const Origins = () => {
  const origins = account.value?.accountOrigin ?? [];
  const [text, setText] = useState('');
  const add = async (event: Event) => {
    event.preventDefault();
    const origin = text.trim().replace(/\/$/, '');
    if (origin && (await allowOrigin(origin))) setText('');
  };
  return (
    <Card title="Sites">
      <div id="origins">
        {origins.length === 0 ? (
          <p>Pages of any site may use the token now. Name yours, and only these may.</p>
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
            placeholder="https://shop.example"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit">Add</button>
        </form>
      </div>
    </Card>
  );
};
