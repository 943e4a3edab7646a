/** Makes a share link to the page that is open, after saying what it shows. */
import type { AnswerFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { root } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { account } from '../../reading/account.ts';
import { conditions, inWords } from '../../reading/filter.ts';
import type { ShownReport } from '../../reading/report.ts';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import { DialogForm } from '../dialog-form.tsx';
import { Field } from '../field.tsx';
import { rangeInWords } from '../range-words.ts';
import { At, OnThisMachineOnly } from '../small.tsx';
import { shareHere } from './share-here.ts';

/** A link shows only so many rows of a breakdown. */
const withFewRows = (request: ShownReport['request']): ShownReport['request'] => {
  const most = account.peek()?.limits.rowsPerSharedBreakdown;
  return 'limit' in request && most
    ? { ...request, limit: Math.min(Number(request.limit ?? most), most) }
    : { ...request };
};

const expiries = { 7: 'In 7 days', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' } as const;
const dayMs = 86_400_000;

type Made = AnswerFor<'createShareLink'>;

const MadeLink = ({
  made: { shareSecret, expiresTime },
  close,
}: {
  readonly made: Made;
  readonly close: () => void;
}) => {
  const url = `${root}/console/shared/${shareSecret}`;
  return (
    <>
      <p>
        <strong>Copy it now: it is shown this once.</strong> It works until <At time={expiresTime} form="long" />, or
        until it is revoked in Settings.
      </p>
      <div class="tag">
        <pre>
          <code>{url}</code>
        </pre>
        <CopyButton text={url} />
      </div>
      <OnThisMachineOnly />
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </>
  );
};

interface ShareProps {
  /** The name of the saved view that is open; '': it is none. */
  readonly viewName: string;
  readonly close: () => void;
}

export const Share = ({ viewName, close }: ShareProps) => {
  // As the page was when the dialog was opened.
  const [{ shared, leftOut }] = useState(shareHere);
  const [shareName, setName] = useState(viewName);
  const [days, setDays] = useState('30');
  const [made, setMade] = useState<Made | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      const expiresTime = new Date(Date.now() + Number(days) * dayMs).toISOString();
      // A range that moves begins today, which may have begun since.
      const { shared: present, leftOut: _, ...view } = shareHere();
      const report = present.map(({ part, operation, request }) => ({
        part,
        operation,
        request: withFewRows(request),
      }));
      setMade(await api.createShareLink({ shareName, expiresTime, ...view, report }));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  if (made)
    return (
      <Dialog title={`The link to “${shareName.trim()}”`} close={close}>
        <MadeLink made={made} close={close} />
      </Dialog>
    );
  return (
    <DialogForm
      title="Share this view"
      close={close}
      action="Create link"
      submit={submit}
      problem={problem}
      isDisabled={isBusy || shared.length === 0}
    >
      <Field label="Name" hint="Those who open the link see it as the title.">
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={255}
            autocomplete="off"
            value={shareName}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Expires">
        {(attributes) => (
          <select {...attributes} value={days} onChange={(event) => setDays(event.currentTarget.value)}>
            {Object.entries(expiries).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="shown-to-others">
        <p>Anyone with the link sees this without signing in, for “{rangeInWords()}”:</p>
        <ul>
          {shared.map(({ part, title }) => (
            <li key={part}>{title}</li>
          ))}
        </ul>
        <p class="soft">
          {conditions.value.length > 0 &&
            `The numbers are only those of the filter “${conditions.value.map(inWords).join(' and ')}”. People with the link neither see nor change the filter. `}
          It shows nothing else: no people, and no other dates. Values such as the paths of pages are shown; e-mail
          addresses in them are hidden.
          {leftOut.length > 0 &&
            ` Left out, because it is about contacts: ${leftOut.map(({ title }) => title).join(', ')}.`}
        </p>
      </div>
    </DialogForm>
  );
};
