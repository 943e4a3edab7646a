/** Settings: tokens and sessions, the account and its privacy, the audit log. */
import { ReadOnly } from '../parts/read-only.tsx';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { AuditLog } from './settings/audit-log.tsx';
import { Privacy } from './settings/privacy.tsx';
import { Tokens } from './settings/tokens.tsx';

const tabs = { tokens: 'Tokens', privacy: 'Privacy', audit: 'Audit log' } as const;
const contents = { tokens: Tokens, privacy: Privacy, audit: AuditLog } as const;

export const Settings = () => {
  const chosen = chosenTab({ parameter: 'tab', tabs });
  const Content = contents[chosen];
  return (
    <>
      <header class="page-head">
        <h1>Settings</h1>
        <Tabs parameter="tab" tabs={tabs} label="Part" />
      </header>
      <ReadOnly />
      <Content />
    </>
  );
};
