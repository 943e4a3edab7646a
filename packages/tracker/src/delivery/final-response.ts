import type { ContactResult } from '../records/contacts.ts';

/**
 * The service's response to one record or to a whole request. Another server at the service's address may respond with
 * anything.
 */
export type ServiceResponse = Partial<ContactResult> & {
  readonly status?: string;
  readonly eventUUID?: string;
  readonly ignored?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly field?: string };
};

/**
 * Whether the response is final: the service has stored the record, or has refused the record or the token with one of
 * these codes. After any other error the record is sent again.
 */
export const isFinal = (response: ServiceResponse): unknown =>
  (response.status === '200' && (response.eventUUID || response.contactUUID)) ||
  /^(invalid_(field|token|json)|missing_(field|token)|token_kind|origin_not_allowed|server_token_in_browser|unknown_id|id_not_for_browser|email_taken|external_id_taken|erased_contact|body_too_large)$/.test(
    (response.error || (response as { code?: string })).code as string,
  );
