/** The dialog that creates a share link to the current page. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { root } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { account } from '../../reading/account.ts';
import { conditions, describeCondition } from '../../reading/filter.ts';
import type { PageReport } from '../../reading/report.ts';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import { DialogForm } from '../dialog-form.tsx';
import { Field } from '../field.tsx';
import { describeRange } from '../range-words.ts';
import { LoopbackWarning, Time } from '../small.tsx';
import { readCurrentShare } from './current-share.ts';

/** The API limits the number of breakdown rows in a share link. */
const limitRows = (request: PageReport['request']): PageReport['request'] => {
  const maxRows = account.peek()?.limits.rowsPerSharedBreakdown;
  return 'limit' in request && maxRows
    ? { ...request, limit: Math.min(Number(request.limit ?? maxRows), maxRows) }
    : { ...request };
};

const expiries = { 7: 'In 7 days', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' } as const;
const dayMs = 86_400_000;

type CreatedLink = ResponseFor<'createShareLink'>;

const NewLink = ({
  link: { shareSecret, expiresTime },
  close,
}: {
  readonly link: CreatedLink;
  readonly close: () => void;
}) => {
  const url = `${root}/console/shared/${shareSecret}`;
  return (
    <>
      <p>
        <strong>Copy it now. It won’t be shown again.</strong> It works until <Time time={expiresTime} form="long" />,
        unless you revoke it in Settings.
      </p>
      <div class="tag">
        <pre>
          <code>{url}</code>
        </pre>
        <CopyButton text={url} />
      </div>
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </>
  );
};

interface ShareDialogProps {
  /** The current saved view's name; '' if the page is not a saved view. */
  readonly viewName: string;
  readonly close: () => void;
}

export const ShareDialog = ({ viewName, close }: ShareDialogProps) => {
  // The page's state when the dialog was opened.
  const [{ included, excluded }] = useState(readCurrentShare);
  const [shareName, setName] = useState(viewName);
  const [days, setDays] = useState('30');
  const [link, setLink] = useState<CreatedLink | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      const expiresTime = new Date(Date.now() + Number(days) * dayMs).toISOString();
      // Reads the page again: a relative range has moved if a new day has started.
      const { included: currentReports, excluded: _, ...view } = readCurrentShare();
      const report = currentReports.map(({ part, operation, request }) => ({
        part,
        operation,
        request: limitRows(request),
      }));
      setLink(await api.createShareLink({ shareName, expiresTime, ...view, report }));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  if (link)
    return (
      <Dialog title={`Link to “${shareName.trim()}”`} close={close}>
        <NewLink link={link} close={close} />
      </Dialog>
    );
  return (
    <DialogForm
      title="Share this view"
      close={close}
      action="Create link"
      submit={submit}
      problem={problem}
      isDisabled={isBusy || included.length === 0}
    >
      <Field label="Name" hint="Shown as the title to people who open the link.">
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
      <LoopbackWarning />
      <div class="shown-to-others">
        <p>Anyone with the link can see this without signing in, for “{describeRange()}”:</p>
        <ul>
          {included.map(({ part, title }) => (
            <li key={part}>{title}</li>
          ))}
        </ul>
        <p class="soft">
          {conditions.value.length > 0 &&
            `Only data that matches the filter “${conditions.value.map(describeCondition).join(' and ')}” is included. People with the link cannot see or change the filter. `}
          It shows nothing else: no people, and no other dates. Values such as page paths are shown, but e-mail
          addresses in them are hidden.
          {excluded.length > 0 &&
            ` Not included, because it is about contacts: ${excluded.map(({ title }) => title).join(', ')}.`}
        </p>
      </div>
    </DialogForm>
  );
};
