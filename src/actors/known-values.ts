/** What a runtime makes known to the redactor of its thread: values that are secrets, and names that are given back. */
import { existsSync } from 'node:fs';
import type { RuntimeServers } from '../api.ts';
import type { ServerConfig } from '../domain/config.ts';
import type { Redactor } from '../domain/redact.ts';
import { isHarmlessVariable, isPlace, secretsOf } from '../domain/secrets.ts';
import { variablesOf } from './identity.ts';

/** Tells the redactor of the secrets and the names of a runtime. */
export function learnValues(
  redactor: Redactor,
  { servers, misconfigured, disabled, provenance, secrets = [] }: RuntimeServers,
): void {
  for (const secret of secrets) redactor.add(secret);
  for (const name of Object.keys({ ...misconfigured, ...disabled })) redactor.keep(name);
  for (const [name, config] of Object.entries(servers)) {
    for (const secret of secretsIn(config)) redactor.add(secret);
    const { environment = '', tools: { allow = [], deny = [], perTool = {} } = {} } = config;
    for (const each of [name, environment, ...allow, ...deny, ...Object.keys(perTool)]) redactor.keep(each);
  }
  for (const { file = '', plugin } of Object.values(provenance ?? {})) {
    redactor.keep(file);
    redactor.keep(plugin?.id ?? '');
  }
}

/** The secrets of a configuration, the values of the variables it names included. Places of this machine are none. */
export function secretsIn(config: ServerConfig): readonly string[] {
  const variables = variablesOf(config).flatMap((name) => (isHarmlessVariable(name) ? [] : (process.env[name] ?? [])));
  return [...secretsOf(config), ...variables].filter((value) => !isPlace(value, existsSync));
}
