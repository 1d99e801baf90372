/** What signs in to servers, as the actors load it: with the first server that has a url. */
export { createAuthorizer } from './authorizer.ts';
export { createKeptCredentials, credentialsDirectory } from './kept-credentials.ts';
