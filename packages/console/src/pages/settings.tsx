/** The settings page. */
import { useEffect } from 'preact/hooks';
import { settingsTabs } from '../frame/settings-tabs.ts';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { isOwner } from '../reading/account.ts';
import { readMembers } from '../reading/members.ts';
import { ImportFiles } from './lazy-import-files.tsx';
import { AuditLog } from './settings/audit-log.tsx';
import { Members } from './settings/members/members.tsx';
import { Privacy } from './settings/privacy.tsx';
import { RefusedRequests } from './settings/refused/refused.tsx';
import { ShareLinks } from './settings/share-links.tsx';
import { Storage } from './settings/storage.tsx';
import { Tokens } from './settings/tokens.tsx';

const contents = {
  tokens: Tokens,
  team: Members,
  shared: ShareLinks,
  refused: RefusedRequests,
  import: () => <ImportFiles part="Imports" />,
  account: Privacy,
  storage: Storage,
  audit: AuditLog,
} as const;

export const Settings = () => {
  // Viewers and editors first see a tab that every role may read.
  const tabs = isOwner.value ? settingsTabs : Object.assign({ account: '' }, settingsTabs);
  const chosen = chosenTab({ parameter: 'tab', tabs });
  // A new member may have joined since the last visit.
  useEffect(() => {
    readMembers().catch(() => {});
  }, [chosen]);
  const Content = contents[chosen];
  return (
    <>
      <header class="page-head">
        <h1>Settings</h1>
        <Tabs parameter="tab" tabs={tabs} label="Settings" />
      </header>
      <Content />
    </>
  );
};
