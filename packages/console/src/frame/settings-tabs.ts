/** The parts of the settings, by their names in the address. */
export const settingsTabs = {
  tokens: 'Tokens',
  people: 'Team',
  shared: 'Share links',
  refused: 'Refused',
  privacy: 'Account',
  storage: 'Storage and backups',
  audit: 'Audit log',
} as const;
