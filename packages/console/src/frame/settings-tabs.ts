/** The settings tabs, by their names in the URL. */
export const settingsTabs = {
  tokens: 'Tokens',
  team: 'Team',
  shared: 'Share links',
  refused: 'Refused',
  import: 'Import',
  mails: 'Mails',
  webhooks: 'Webhooks',
  account: 'Account',
  storage: 'Storage and backups',
  audit: 'Audit log',
} as const;
