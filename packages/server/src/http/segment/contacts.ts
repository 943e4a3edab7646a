/** Creates and changes the contacts that Segment messages refer to. An existing contact keeps its profile. */
import { check } from '@firsthand/contract/checking';
import { batchContact } from '@firsthand/contract/contact';
import type { InputOf } from '@firsthand/contract/operations';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NamedContact, Store } from '../../store/store.ts';
import { accountOf, type Caller, type Handlers, toStoreCaller } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import type { RequestFields } from '../request/input.ts';

const fallbackProfileID = 'contact';
export const maxConcurrentContacts = 100;

export interface ContactPutterOptions {
  readonly store: Pick<Store, 'getContact' | 'listCatalogue'>;
  readonly handlers: Handlers<'createContact'>;
}

/** The fields that identify an event's contact, or the reason why the contact can't be created. */
type Subject = { readonly contactUUID?: string; readonly contactEmailaddress?: undefined } | Refusal;

interface ContactName {
  readonly contactExternalID?: unknown;
  readonly contactEmailaddress?: unknown;
}

/** Returns the account's default profile or else its first profile, among the profiles that this token may use. */
export const findDefaultProfile = async (store: Pick<Store, 'listCatalogue'>, caller: Caller): Promise<string> => {
  const fromBrowser = caller.access.kind === 'browser';
  const listed = await store.listCatalogue({ account: accountOf(caller), kind: 'profile' });
  const own = listed.find(({ id }) => id === caller.access.defaultProfileID);
  const preferredID = own?.mergedInto ?? own?.id;
  const usable = listed.filter(({ browser, mergedInto }) => mergedInto === null && (browser || !fromBrowser));
  return (usable.find(({ id }) => id === preferredID) ?? usable[0])?.id ?? fallbackProfileID;
};

export const createContactPutter = ({ store, handlers }: ContactPutterOptions, caller: Caller) => {
  const fromBrowser = caller.access.kind === 'browser';

  let defaultProfile: Promise<string> | undefined;
  const getDefaultProfile = () => {
    defaultProfile ??= findDefaultProfile(store, caller);
    return defaultProfile;
  };

  const findNamed = async (name: Omit<NamedContact, 'account'>) => {
    try {
      return await store.getContact({ ...toStoreCaller(caller), ...name, include: [] });
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unknown_contact') return undefined;
      throw error;
    }
  };

  /** Returns the contact if it exists. Looks up nothing with a browser token. */
  const find = async ({ contactExternalID: externalID, contactEmailaddress }: ContactName) => {
    if (fromBrowser) return undefined;
    const named = typeof externalID === 'string' ? await findNamed({ externalID }) : undefined;
    const address = typeof contactEmailaddress === 'string' ? parseAddress(contactEmailaddress) : undefined;
    return named ?? (address === undefined ? undefined : findNamed({ address }));
  };

  /** Rejects with a Refusal if the input is invalid, or refused by the store. */
  const put = async (input: RequestFields): Promise<string> => {
    // createContacts takes contacts without a user.
    const checked = check(batchContact, input);
    if (!checked.ok) throw refusalOf(checked.problem);
    const { requestUUID } = input as Pick<InputOf<'createContact'>, 'requestUUID'>;
    return (await handlers.createContact({ ...checked.value, requestUUID }, caller)).contactUUID;
  };

  const ensureOne = async (name: ContactName): Promise<Subject> => {
    try {
      const contactUUID =
        (await find(name))?.contactUUID ?? (await put({ contactProfileID: await getDefaultProfile(), ...name }));
      // An external ID is looked up again when the event is stored, because the contact might be erased or merged in
      // the meantime.
      return name.contactExternalID === undefined ? { contactUUID, contactEmailaddress: undefined } : {};
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };

  return {
    put,

    /** Adds the profile that createContact requires: the contact's own, or the default. */
    withProfile: async (input: RequestFields): Promise<RequestFields> => {
      const contactProfileID = (await find(input))?.fields.contactProfileID || (await getDefaultProfile());
      return { contactProfileID, ...input };
    },

    /**
     * Creates the contacts that events refer to, unless they exist. Returns a function that looks up the subject of an
     * event.
     */
    ensure: async (events: readonly RequestFields[]): Promise<(event: RequestFields) => Subject> => {
      const names = new Map<unknown, ContactName>();
      for (const { contactExternalID, contactEmailaddress } of events) {
        const key = contactExternalID ?? contactEmailaddress;
        if (key !== undefined) names.set(key, { contactExternalID, contactEmailaddress });
      }
      const subjects = new Map<unknown, Subject>();
      const ensure = async ([key, name]: [unknown, ContactName]) => subjects.set(key, await ensureOne(name));
      const entries = [...names];
      while (entries.length > 0) await Promise.all(entries.splice(0, maxConcurrentContacts).map(ensure));
      return ({ contactExternalID, contactEmailaddress }) =>
        subjects.get(contactExternalID ?? contactEmailaddress) ?? {};
    },
  };
};
