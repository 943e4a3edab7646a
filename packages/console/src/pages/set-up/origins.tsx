/** The sites whose pages may use a browser token. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { account, readAccount } from '../../reading/account.ts';

export const Origins = () => {
  const origins = account.value?.accountOrigin ?? [];
  const [text, setText] = useState('');
  const change = (accountOrigin: string[], done: string) =>
    act(() => api.updateAccount({ accountOrigin }), {
      done,
      undo: () => api.updateAccount({ accountOrigin: origins }),
      after: readAccount,
    });
  const add = async (event: Event) => {
    event.preventDefault();
    const origin = text.trim().replace(/\/$/, '');
    if (origin && (await change([...new Set([...origins, origin])], `Pages of ${origin} may use the tag.`)))
      setText('');
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
                  onClick={() =>
                    change(
                      origins.filter((each) => each !== origin),
                      `Removed ${origin}.`,
                    )
                  }
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
