/** The script tag of this account, in the form that a site needs. */
import { useState } from 'preact/hooks';
import { root } from '../../address.ts';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Field } from '../../parts/field.tsx';
import { account } from '../../reading/account.ts';
import { isLive } from '../settings/token-list.ts';
import { scriptAddresses } from './script-addresses.ts';

/** The server has written the tag of its settings into the page, without the address and the token. */
const template = (): string => document.querySelector<HTMLMetaElement>('meta[name="firsthand-tag"]')?.content ?? '';

/** The name of the event that the tag logs by itself. */
export const readPageViewName = (): string | undefined => /data-page-views="([^"]*)"/.exec(template())?.[1];

const guides = [
  ['static-site', 'HTML'],
  ['tag-manager', 'Tag Manager'],
  ['wordpress', 'WordPress'],
  ['react', 'React'],
  ['nextjs', 'Next.js'],
  ['csp', 'With a CSP'],
] as const;

export const ScriptTag = () => {
  const tokens =
    account.value?.token?.filter((token) => token.tokenUUID !== undefined && isLive(token, Date.now())) ?? [];
  const [chosen, setChosen] = useState('');
  const [chosenAddress, setChosenAddress] = useState('');
  const token = tokens.find(({ tokenID }) => tokenID === chosen) ?? tokens[0];
  const addresses = scriptAddresses(root, account.value?.accountOrigin ?? []);
  const [address = root] = addresses.includes(chosenAddress) ? [chosenAddress] : addresses;
  const tag = template()
    .replaceAll('{root}', address)
    .replaceAll('{token}', token?.tokenUUID ?? 'browser_…');
  const tools = tokens.length > 1 && (
    <select
      aria-label="Browser token"
      value={token?.tokenID}
      onChange={(event) => setChosen(event.currentTarget.value)}
    >
      {tokens.map(({ tokenID, tokenName }) => (
        <option key={tokenID} value={tokenID}>
          {tokenName || tokenID}
        </option>
      ))}
    </select>
  );
  return (
    <Card title="The script tag" tools={tools}>
      <p>
        Paste it into the head of each page, before other scripts. It logs page views; <code>tracker.log</code> logs
        what else matters to you.
      </p>
      {addresses.length > 1 && (
        <>
          <Field label="Address of the script">
            {(props) => (
              <select {...props} value={address} onChange={(event) => setChosenAddress(event.currentTarget.value)}>
                {addresses.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <p class="soft">
            {address === root
              ? 'From an address that is not the site’s own, Safari keeps a browser’s cookie for 7 days instead of 400.'
              : 'The web server of the site passes this path on to the service.'}{' '}
            <a href="../docs/own-domain">How</a>
          </p>
        </>
      )}
      <div class="tag">
        <pre>
          <code>{tag}</code>
        </pre>
        <CopyButton text={tag} />
      </div>
      {!token && (
        <p class="soft">Only a server token shows the token of your pages. Put yours in the place of browser_….</p>
      )}
      <p class="guides">
        Step by step:{' '}
        {guides.map(([guide, name]) => (
          <a key={guide} href={`../docs/${guide}`}>
            {name}
          </a>
        ))}
      </p>
    </Card>
  );
};
