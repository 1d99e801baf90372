/** Which scopes are asked for (SPEC AU-1): explicit, else configured, else what the server named, else none. */
import { computeScopeUnion } from '@modelcontextprotocol/client';

export interface ScopeSources {
  /** By whoever begins the sign-in. */
  readonly explicit?: readonly string[] | undefined;
  readonly configured?: readonly string[] | undefined;
  /** In the challenge of the server. */
  readonly challenged?: string | undefined;
  /** In the metadata of the resource. */
  readonly supported?: readonly string[] | undefined;
  /** A step up adds to what was granted or asked for before. */
  readonly before?: string | undefined;
}

export interface ChosenScope {
  /** Absent: the request names none. */
  readonly scope?: string;
  /** Nobody here asked for these: when they are refused, the request is made once more without. */
  readonly isDiscovered: boolean;
}

/** Chooses. With `before` the challenge counts whatever is configured: the server says what is missing. */
export function chooseScope(sources: ScopeSources): ChosenScope {
  const { explicit, configured, challenged, supported = [], before } = sources;
  if (explicit !== undefined) return chosen(explicit.join(' '), false);
  if (before !== undefined) return chosen(computeScopeUnion(before, configured?.join(' '), challenged), false);
  if (configured !== undefined) return chosen(configured.join(' '), false);
  return chosen(challenged ?? supported.join(' '), true);
}

/** Asks for a refresh token where the authorization server gives one only when it is asked to. */
export function withOfflineAccess(
  { scope, isDiscovered }: ChosenScope,
  supported: readonly string[] = [],
): ChosenScope {
  const isWanted = scope !== undefined && supported.includes('offline_access');
  return { isDiscovered, ...(scope === undefined ? {} : { scope: isWanted ? union(scope, 'offline_access') : scope }) };
}

function union(...scopes: readonly (string | undefined)[]): string {
  return computeScopeUnion(...scopes) ?? '';
}

function chosen(scope: string | undefined, isDiscovered: boolean): ChosenScope {
  const normal = computeScopeUnion(scope);
  return { isDiscovered, ...(normal === undefined ? {} : { scope: normal }) };
}
