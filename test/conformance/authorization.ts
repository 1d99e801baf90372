/** The scenarios in which the server has to be signed in to. */
import type { Scenario } from './peer.ts';

/** The scenarios by the names the suite gives them. */
export const authorizationScenarios: Readonly<Record<string, Scenario>> = {};
