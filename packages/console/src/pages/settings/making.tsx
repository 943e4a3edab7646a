/** Makes a token: its kind, its name, and how long it works. */
import type { AnswerFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { readAccount } from '../../reading/account.ts';
import { type Expiry, expiresTimeOf, expiries } from './expiry.ts';
import type { Token } from './token-list.ts';

export type MadeToken = AnswerFor<'createToken'> & { readonly tokenName: string };
type Kind = Token['tokenKind'];

const kinds: Readonly<Record<Kind, string>> = {
  browser: 'For the script tag of your pages. It is public: it sends events, and reads nothing of others.',
  viewer: 'For dashboards and reports. It is secret: it reads everything and changes nothing.',
  editor: 'For programs that manage contacts and catalogues. It is secret: it changes these, and erases nothing.',
  server: 'For your own servers. It is secret: it reads and changes everything, tokens included.',
};

interface MakeProps {
  readonly made: (token: MadeToken) => void;
}

const MakeDialog = ({ made, close }: MakeProps & { readonly close: () => void }) => {
  const [kind, setKind] = useState<Kind>('viewer');
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState<Expiry>('never');
  const [day, setDay] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async () => {
    if (expiry === 'day' && day === '') return setProblem('Choose the day on which the token expires.');
    const tokenName = name.trim();
    const expiresTime = expiresTimeOf(expiry, day, Date.now());
    try {
      const token = await api.createToken({ tokenKind: kind, tokenName: tokenName || undefined, expiresTime });
      close();
      made({ ...token, tokenName });
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
      <Field label="Name" hint="For people: what uses the token, and where.">
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
        <Field label="Day" hint="The token stops working when this day begins in UTC.">
          {(attributes) => (
            <input {...attributes} type="date" value={day} onInput={(event) => setDay(event.currentTarget.value)} />
          )}
        </Field>
      )}
    </DialogForm>
  );
};

export const MakeToken = ({ made }: MakeProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Create a token …
      </button>
      {isOpen && <MakeDialog made={made} close={() => setOpen(false)} />}
    </>
  );
};
