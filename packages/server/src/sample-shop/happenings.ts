/** What happens in the sample shop: plain data, which `fill.ts` stores in the order of time. */
import type { Attributes, ContactChange, KeptOperation, NewContact, NewEvent } from '../store/store.ts';

/** The kind of token by which something is sent. */
export type Sender = 'browser' | 'server';

/** What a request says of a contact. */
export type Said = Partial<Pick<NewContact, 'address' | 'externalID' | 'fields' | 'tags' | 'attributes'>>;

export type Deed =
  | { readonly do: 'log'; readonly by: Sender; readonly event: NewEvent }
  /** `contactUUID` is that of the contact if this creates it. `claimID` names the claim that a browser token makes. */
  | {
      readonly do: 'create';
      readonly by: Sender;
      readonly userUUID: string | null;
      readonly contactUUID: string;
      readonly claimID: string;
      readonly said: Said;
      readonly verified: boolean;
    }
  | {
      readonly do: 'update';
      readonly contactUUID: string;
      readonly change: Partial<Pick<ContactChange, 'fields' | 'removedTags' | 'contactStatus'>>;
    }
  /** `name` names the link for a later `void link`. */
  | { readonly do: 'link'; readonly userUUID: string; readonly contactUUID: string; readonly name?: string }
  | { readonly do: 'unlink'; readonly userUUID: string }
  | { readonly do: 'void link'; readonly name: string }
  | { readonly do: 'accept claim' | 'void claim'; readonly claimID: string }
  | { readonly do: 'merge'; readonly contactUUID: string; readonly otherContactUUID: string }
  | { readonly do: 'unmerge'; readonly otherContactUUID: string }
  /** A request that was refused for its content. */
  | {
      readonly do: 'refuse';
      readonly by: Sender;
      readonly operation: KeptOperation;
      readonly input: Readonly<Record<string, unknown>>;
      readonly robot: boolean;
    };

/** `time` is in milliseconds since 1970. */
export type Happening = Deed & { readonly time: number };

/** A browser, and where it first came from. */
export interface Visitor {
  readonly userUUID: string;
  /** `$browser` and the other labels that the server adds; none for a robot. */
  readonly labels: Attributes;
  readonly robot: boolean;
}
