/** What a link takes besides its channel. Loaded with the first link. */
export { MirroredCalls } from './mirrored-calls.ts';
export { OtherRequests } from './other-requests.ts';
