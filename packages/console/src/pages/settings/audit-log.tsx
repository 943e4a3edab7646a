/** The audit log: who did what, and when. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { ContactLink } from '../../parts/contact-link.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { EmptyState, Time } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { account } from '../../reading/account.ts';
import { nameOfMember } from '../../reading/member-names.ts';
import { usePagination } from '../../reading/pages.ts';
import { type AuditAction, type AuditEntry, actionWords, detailsOf, restoringWords, wordsOf } from './audit-words.ts';
import { OwnersOnly } from './owners-only.tsx';
import { nameOfActor, type Token } from './token-list.ts';

const limit = 50;

const chosenAction = (): AuditAction | undefined => {
  const action = query.value.get('action');
  return action !== null && Object.hasOwn(actionWords, action) ? (action as AuditAction) : undefined;
};

const actionsToChoose = Object.entries(actionWords);

const ActionChoice = () => (
  <select
    aria-label="Action"
    value={chosenAction() ?? ''}
    onChange={(event) => setQuery({ action: event.currentTarget.value })}
  >
    <option value="">All actions</option>
    {actionsToChoose.map(([action, words]) => (
      <option key={action} value={action}>
        {[words, restoringWords[action as AuditAction]].filter(Boolean).join(' / ')}
      </option>
    ))}
  </select>
);

/** The name of the member or token that performed the action. */
const actorOf = ({ actor, memberID }: AuditEntry, tokens: readonly Token[]): string =>
  memberID === undefined ? nameOfActor(actor, tokens) : (nameOfMember(memberID) ?? 'a removed member');

/** Whether the subject is a console session: signing in also creates a token. */
const isSession = ({ subject: { tokenID } }: AuditEntry, tokens: readonly Token[]): boolean =>
  tokens.some((token) => token.tokenID === tokenID && token.session);

const Subject = ({ entry, tokens }: { readonly entry: AuditEntry; readonly tokens: readonly Token[] }) => {
  const { contactUUID, otherContactUUID } = entry.subject;
  const details = detailsOf(entry, (tokenID) => nameOfActor(tokenID, tokens));
  const contacts = [contactUUID, otherContactUUID].filter((id) => id !== undefined);
  return (
    <span class="audit-subject">
      {contacts.map((id) =>
        entry.action === 'eraseContact' ? (
          <span key={id}>Contact {id.slice(0, 6)}</span>
        ) : (
          <ContactLink key={id} contactUUID={id} />
        ),
      )}
      {details && <span>{details}</span>}
    </span>
  );
};

const Entries = ({ tokens }: { readonly tokens: readonly Token[] }) => {
  const action = chosenAction();
  const { response, more } = usePagination(`audit ${action}`, async (cursor, signal) => {
    const { audit, nextCursor } = await api.listAudit({ action, limit, cursor }, { signal });
    return { entries: audit, nextCursor };
  });
  const tools = (
    <>
      <ActionChoice />
      <SaveCSV title="Audit log" operation="listAudit" request={{ action }} />
    </>
  );
  return (
    <Card title="Audit log" tools={tools} class="list">
      <ResponseView response={response} lines={10}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState title={action ? 'No entries for this action yet' : 'No entries yet'} />
          ) : (
            <Table
              label="Audit log, newest first"
              headers={['Action', 'Subject', 'By', 'When']}
              more={more}
              rows={entries.map((entry) => ({
                key: entry.auditID,
                cells: [
                  wordsOf(entry, isSession(entry, tokens)),
                  <Subject key="subject" entry={entry} tokens={tokens} />,
                  <span key="by" title={entry.actor}>
                    {actorOf(entry, tokens)}
                  </span>,
                  <Time key="when" time={entry.auditTime} form="long" />,
                ],
              }))}
            />
          )
        }
      </ResponseView>
    </Card>
  );
};

export const AuditLog = () => {
  const tokens = account.value?.token;
  return tokens ? <Entries tokens={tokens} /> : <OwnersOnly title="Audit log" subject="the audit log" />;
};
