/** The import pages, which read files in the browser. A separate chunk, loaded when one of them is shown. */
export { ImportContacts } from './people/import-contacts.tsx';
export { Imports } from './settings/imports/imports.tsx';
