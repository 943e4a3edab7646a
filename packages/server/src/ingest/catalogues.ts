import type { InputOf } from '@firsthand/contract/operations';
import type { Catalogues } from '../store/store.ts';

type CheckedCatalogues = Pick<InputOf<'updateAccount'>, 'profile' | 'tag' | 'attr' | 'event'>;

/** The catalogue entries of a request in the form that the store takes: the IDs of all catalogues as text. */
export const cataloguesOf = ({ profile, tag, attr, event }: CheckedCatalogues): Catalogues => ({
  ...(profile && { profile: profile.map(({ profileID: id, profileName: name, ...rest }) => ({ id, name, ...rest })) }),
  ...(tag && { tag: tag.map(({ tagID: id, tagName: name, ...rest }) => ({ id, name, ...rest })) }),
  ...(attr && {
    attr: attr.map(({ attrID: id, attrName: name, attrType: type, ...rest }) => ({ id, name, type, ...rest })),
  }),
  ...(event && {
    event: event.map(({ eventID, eventName: name, ...rest }) => ({ id: String(eventID), name, ...rest })),
  }),
});
