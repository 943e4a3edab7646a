/** Merging two catalogue entries, and separating them again. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act } from '../../parts/notices.tsx';
import { canEdit, readAccount } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { type Entry, type Kind, kinds } from './entries.ts';

interface MergeProps {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly entries: readonly Entry[];
  /** The initially selected other entry. */
  readonly partnerID?: string;
}

/** Includes the ID, because two entries can have the same name. */
const labelOf = ({ id, name }: Pick<Entry, 'id' | 'name'>): string => (name === id ? name : `${name} (${id})`);

const merge = (kind: Kind, target: Pick<Entry, 'id'>, other: Pick<Entry, 'id'>) =>
  api.mergeEntry({ catalogue: kind, entryID: target.id, otherEntryID: other.id });
const unmerge = (kind: Kind, other: Pick<Entry, 'id'>) => api.unmergeEntry({ catalogue: kind, otherEntryID: other.id });

const consequence = (kind: Kind, target: string, other: string): string => {
  switch (kind) {
    case 'event':
      return `All “${other}” events count as “${target}”, including those still sent with the old ID.`;
    case 'attr':
      return `Values of “${other}” count as values of “${target}”. If an event or contact has both, the value of “${target}” is used.`;
    case 'tag':
      return `Contacts tagged “${other}” count as tagged “${target}”.`;
    case 'profile':
      return `Contacts with the profile “${other}” count as “${target}”.`;
  }
};

/** After a merge, the target entry determines whether pages may use both IDs. */
const forPages = (target: Entry, other: string): string =>
  target.browser
    ? `Pages may use “${labelOf(target)}”, so they may then use “${other}” too.`
    : `Pages may not use “${labelOf(target)}”, so requests from pages that contain “${other}” will be refused.`;

export const MergeDialog = ({
  kind,
  entry,
  entries,
  partnerID,
  close,
}: MergeProps & { readonly close: () => void }) => {
  const { singular, title } = kinds[kind];
  const others = entries.filter((each) => each.isListed && each.id !== entry.id);
  const [otherID, setOtherID] = useState(partnerID ?? others[0]?.id ?? '');
  const [stays, setStays] = useState<'entry' | 'chosen'>('chosen');
  const [problem, setProblem] = useState('');
  const partner = others.find(({ id }) => id === otherID);
  const [target, other] = stays === 'entry' ? [entry, partner] : [partner, entry];
  const submit = async () => {
    if (!target || !other) return;
    const attempt = merge(kind, target, other);
    const rejection = await problemOf(attempt);
    if (rejection) return setProblem(rejection);
    close();
    await act(() => attempt, {
      done: `“${labelOf(other)}” now counts as “${labelOf(target)}”.`,
      undo: () => unmerge(kind, other),
      refresh: readAccount,
    });
  };
  return (
    <DialogForm
      title={`Merge “${labelOf(entry)}”`}
      close={close}
      action="Merge"
      submit={submit}
      problem={problem}
      isDisabled={!partner}
    >
      {partner ? (
        <>
          <Field label={`Merge with the ${singular}`}>
            {(attributes) => (
              <select {...attributes} value={otherID} onChange={(event) => setOtherID(event.currentTarget.value)}>
                {others.map((each) => (
                  <option key={each.id} value={each.id}>
                    {labelOf(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Keep">
            {(attributes) => (
              <select
                {...attributes}
                value={stays}
                onChange={(event) => setStays(event.currentTarget.value as typeof stays)}
              >
                <option value="chosen">{labelOf(partner)}</option>
                <option value="entry">{labelOf(entry)}</option>
              </select>
            )}
          </Field>
          <p>
            {target && other && consequence(kind, labelOf(target), labelOf(other))}
            {kind === 'event' && other && ` Events so far: ${formatWhole(other.uses?.count ?? 0)}.`}
            {target && other && target.browser !== other.browser && ` ${forPages(target, labelOf(other))}`}
          </p>
          <p class="soft">Stored data does not change. You can separate the entries again at any time.</p>
        </>
      ) : (
        <p>There are no other {title.toLowerCase()} to merge this one with.</p>
      )}
    </DialogForm>
  );
};

export const MergeEntry = (props: MergeProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" aria-label={`Merge ${props.entry.name}`} onClick={() => setOpen(true)}>
        Merge
      </button>
      {isOpen && <MergeDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};

/** The entries merged into this one, each with a button to separate it. */
export const MergedEntries = ({ kind, entry }: Omit<MergeProps, 'entries'>) => {
  const { merged } = entry;
  if (merged.length === 0) return null;
  const separate = (other: Entry['merged'][number]) =>
    act(() => unmerge(kind, other), {
      done: `“${labelOf(other)}” is separate again.`,
      undo: () => merge(kind, entry, other),
      refresh: readAccount,
    });
  return (
    <ul class="merged" aria-label={`Merged into ${entry.name}`}>
      {merged.map((other) => (
        <li key={other.id}>
          <span class="soft">also {labelOf(other)}</span>
          {canEdit.value && (
            <button
              type="button"
              class="quiet"
              aria-label={`Separate ${labelOf(other)}`}
              onClick={() => separate(other)}
            >
              Separate
            </button>
          )}
        </li>
      ))}
    </ul>
  );
};
