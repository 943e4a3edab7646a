/** The dialog that creates a token. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { readAccount } from '../../reading/account.ts';
import { type Expiry, expiresTimeOf, expiries } from './expiry.ts';
import type { Token } from './token-list.ts';

export type CreatedToken = ResponseFor<'createToken'> & { readonly tokenName: string };
type Kind = Token['tokenKind'];

const kinds: Readonly<Record<Kind, string>> = {
  browser: 'For the script tag on your pages. Public: it can send events but cannot read other people’s data.',
  agent: 'For AI agents. Secret: it can read counts at /mcp, but no people and no single events.',
  viewer: 'For dashboards and reports. Secret: it can read everything and change nothing.',
  editor: 'For programs that manage contacts and the catalogue. Secret: it can edit these but cannot erase people.',
  server: 'For your servers. Secret: it can read and change everything, including tokens.',
};

interface CreateTokenProps {
  readonly onCreated: (token: CreatedToken) => void;
}

const CreateTokenDialog = ({ onCreated, close }: CreateTokenProps & { readonly close: () => void }) => {
  const [kind, setKind] = useState<Kind>('viewer');
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState<Expiry>('never');
  const [day, setDay] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async () => {
    if (expiry === 'day' && day === '') return setProblem('Choose the date on which the token expires.');
    const tokenName = name.trim();
    const expiresTime = expiresTimeOf(expiry, day, Date.now());
    try {
      const token = await api.createToken({ tokenKind: kind, tokenName: tokenName || undefined, expiresTime });
      close();
      onCreated({ ...token, tokenName });
      await readAccount();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <DialogForm title="Create a token" close={close} action="Create" submit={submit} problem={problem}>
      <fieldset class="kinds">
        <legend>Kind</legend>
        {(Object.keys(kinds) as Kind[]).map((each) => (
          <label key={each} class="choice-line">
            <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
            <span>
              {each}
              <small class="soft">{kinds[each]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Name" hint="What uses the token, and where.">
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            maxLength={255}
            placeholder="Nightly report"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Expires">
        {(attributes) => (
          <select {...attributes} value={expiry} onChange={(event) => setExpiry(event.currentTarget.value as Expiry)}>
            {Object.entries(expiries).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {expiry === 'day' && (
        <Field label="Date" hint="The token stops working at the start of this day in UTC.">
          {(attributes) => (
            <input {...attributes} type="date" value={day} onInput={(event) => setDay(event.currentTarget.value)} />
          )}
        </Field>
      )}
    </DialogForm>
  );
};

export const CreateToken = ({ onCreated }: CreateTokenProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Create a token…
      </button>
      {isOpen && <CreateTokenDialog onCreated={onCreated} close={() => setOpen(false)} />}
    </>
  );
};
