/** The import of files, in one chunk, which is loaded when it is shown: it reads the files itself. */
export { ImportContacts } from './people/import-contacts.tsx';
export { Imports } from './settings/imports/imports.tsx';
