import type { ContactFields } from './contacts.ts';
import { callOn } from './elements.ts';
import { guard } from './guard.ts';
import type { Tracker } from './tracker.ts';

/**
 * Has a form with `data-contact="<contactProfileID>"` say who the visitor is when it is submitted: its fields whose names are
 * those of createContact (`contactEmailaddress`, …) and no others, so that no password is ever read. The form goes where it
 * goes.
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
