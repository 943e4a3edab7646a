/** The audit log: who did what, and when. */
import { query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { ContactLink } from '../../parts/contact-link.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { At, Empty } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { account } from '../../reading/account.ts';
import { nameOfMember } from '../../reading/member-names.ts';
import { usePages } from '../../reading/pages.ts';
import { type AuditAction, type AuditEntry, actionWords, detailsOf, restoringWords, wordsOf } from './audit-words.ts';
import { OwnersOnly } from './owners-only.tsx';
import { nameOfActor, type Token } from './token-list.ts';

const limit = 50;

const chosenAction = (): AuditAction | undefined => {
  const action = query.value.get('action');
  return action !== null && Object.hasOwn(actionWords, action) ? (action as AuditAction) : undefined;
};

/** `copy` and `backup` concern the whole database and are in no account's log. */
const actionsToChoose = Object.entries(actionWords).filter(([action]) => action !== 'copy' && action !== 'backup');

const ActionChoice = () => (
  <select
    aria-label="Action"
    value={chosenAction() ?? ''}
    onChange={(event) => setQuery({ action: event.currentTarget.value })}
  >
    <option value="">Any action</option>
    {actionsToChoose.map(([action, words]) => (
      <option key={action} value={action}>
        {[words, restoringWords[action as AuditAction]].filter(Boolean).join(' / ')}
      </option>
    ))}
  </select>
);

/** Who did it: a person by name, or a token. */
const actorOf = ({ actor, memberID }: AuditEntry, tokens: readonly Token[]): string =>
  memberID === undefined ? nameOfActor(actor, tokens) : (nameOfMember(memberID) ?? 'a removed person');

/** Whether the subject is a session of the console: a sign-in creates a token, too. */
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
  const { answer, more } = usePages(`audit ${action}`, async (cursor, signal) => {
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
      <Answered answer={answer} lines={10}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title={action ? 'No entry for this action yet' : 'Nothing is logged yet'} />
          ) : (
            <Table
              label="Audit log, the newest first"
              heads={['Action', 'Subject', 'By', 'When']}
              more={more}
              rows={entries.map((entry) => ({
                key: entry.auditID,
                cells: [
                  wordsOf(entry, isSession(entry, tokens)),
                  <Subject key="subject" entry={entry} tokens={tokens} />,
                  <span key="by" title={entry.actor}>
                    {actorOf(entry, tokens)}
                  </span>,
                  <At key="when" time={entry.auditTime} form="long" />,
                ],
              }))}
            />
          )
        }
      </Answered>
    </Card>
  );
};

export const AuditLog = () => {
  const tokens = account.value?.token;
  return tokens ? <Entries tokens={tokens} /> : <OwnersOnly title="Audit log" what="the audit log" />;
};
