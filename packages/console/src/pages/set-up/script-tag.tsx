/** This account's script tag, ready to paste. */
import { useState } from 'preact/hooks';
import { root } from '../../address.ts';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Field } from '../../parts/field.tsx';
import { account } from '../../reading/account.ts';
import { isLive } from '../settings/token-list.ts';
import { scriptAddresses } from './script-addresses.ts';

/** The server writes the tag into the page, with placeholders for the address and the token. */
const template = (): string => document.querySelector<HTMLMetaElement>('meta[name="firsthand-tag"]')?.content ?? '';

/** The name of the event that the tag logs automatically. */
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
        Paste this tag into the head of every page, before other scripts. It logs page views. Call{' '}
        <code>tracker.log</code> to log other events.
      </p>
      {addresses.length > 1 && (
        <>
          <Field label="Script address">
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
              ? 'If the script comes from another site, its cookie lasts only 7 days in Safari instead of 400.'
              : 'Your site’s web server must forward this path to the service.'}{' '}
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
        <p class="soft">Replace browser_… with your browser token. Owners can find it in Settings › Tokens.</p>
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
