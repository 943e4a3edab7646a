import { guard } from '../guard.ts';
import type { ContactFields } from '../records/contacts.ts';
import type { Tracker } from '../tracker.ts';
import { callOn } from './elements.ts';

/**
 * Calls createContact when a form with `data-contact="<contactProfileID>"` is submitted; the form is submitted as
 * usual. Reads only form fields named like the fields of createContact (`contactEmailaddress`, …), so it never reads a
 * password.
 */
export const createContacts = (tracker: Tracker): void => {
  addEventListener(
    'submit',
    guard(({ target }: Event) => {
      const profile = callOn(target, 'getAttribute', 'data-contact');
      if (profile === null) return;
      const fields: Record<string, string> = { contactProfileID: profile };
      new FormData(target as HTMLFormElement).forEach((value, name) => {
        if (/^contact[A-Z]/.test(name)) fields[name] = value as string;
      });
      tracker.createContact(fields as unknown as ContactFields);
    }),
    true,
  );
};
