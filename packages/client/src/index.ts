export type { ErrorCode } from '@firsthand/contract/errors';
export { type CallOptions, type Client, type ClientOptions, type CSVOperation, createClient } from './client.ts';
export { FirsthandError } from './failure.ts';
export type { PagedOperation } from './pages.ts';
export type { RequestFor } from './requests.ts';
export type { ResponseFor, WithDates } from './responses.ts';
export type { FollowedEvent } from './stream.ts';
