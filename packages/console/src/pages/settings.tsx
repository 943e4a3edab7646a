/** The settings page. */
import { useEffect } from 'preact/hooks';
import { settingsTabs } from '../frame/settings-tabs.ts';
import { Lazy } from '../parts/lazy.tsx';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { isOwner } from '../reading/account.ts';
import { readMembers } from '../reading/members.ts';
import { AuditLog } from './settings/audit-log.tsx';
import { Members } from './settings/members/members.tsx';
import { OwnersOnly } from './settings/owners-only.tsx';
import { Privacy } from './settings/privacy.tsx';
import { RefusedRequests } from './settings/refused/refused.tsx';
import { ShareLinks } from './settings/share-links.tsx';
import { Storage } from './settings/storage.tsx';
import { Tokens } from './settings/tokens.tsx';

const loadImports = () => import('./import-files.ts').then(({ Imports }) => Imports);
const loadMails = () => import('./mails.ts').then(({ Notifications }) => Notifications);
const loadWebhooks = () => import('./settings/webhooks/webhooks.tsx').then(({ Webhooks }) => Webhooks);

const contents = {
  tokens: Tokens,
  team: Members,
  shared: ShareLinks,
  refused: RefusedRequests,
  import: () => <Lazy load={loadImports} />,
  mails: () => <Lazy load={loadMails} />,
  webhooks: () => (isOwner.value ? <Lazy load={loadWebhooks} /> : <OwnersOnly title="Webhooks" subject="webhooks" />),
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
