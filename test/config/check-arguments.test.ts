/** Every export of `holdfast/config` says what it expected where a caller without types gives something else. */
import * as config from 'holdfast/config';
import { HoldfastError } from 'holdfast';
import { expect, test } from 'vitest';

/** A value as a caller without types gives it. */
const given = (value: unknown): never => value as never;

const calls: readonly (readonly [string, () => unknown, string])[] = [
  [
    'readConfig',
    () => config.readConfig(given('a.json')),
    'Expected readConfig to be given a list of paths, got "a.json". Put it in brackets: [ ].',
  ],
  [
    'readConfig',
    () => config.readConfig(given(undefined)),
    'Expected readConfig to be given a list of paths, got nothing.',
  ],
  ['readConfig', () => config.readConfig(given([1])), 'Expected readConfig to be given a list of paths, got [1].'],
  [
    'readConfig',
    () => config.readConfig([], given('x')),
    'Expected the options of readConfig to be an object, got "x".',
  ],
  [
    'readConfig',
    () => config.readConfig([], { env: given({ A: 1 }) }),
    'Expected "env" of readConfig to be an object of strings, got another object.',
  ],
  [
    'readConfig',
    () => config.readConfig([], { runCommand: given('yes') }),
    'Expected "runCommand" of readConfig to be a function, got "yes".',
  ],
  [
    'findConfig',
    () => config.findConfig(given(undefined)),
    'Expected the directory of findConfig to be a string, got nothing.',
  ],
  [
    'importConfig',
    () => config.importConfig(given({}), { path: 'a' }),
    'Expected the text of importConfig to be a string, got {}.',
  ],
  [
    'importConfig',
    () => config.importConfig('{}', given(undefined)),
    'Expected the options of importConfig to be an object, got nothing.',
  ],
  [
    'importConfig',
    () => config.importConfig('{}', given({})),
    'Expected the options of importConfig to have "path", got none.',
  ],
  [
    'importFiles',
    () => config.importFiles(given('a.json')),
    'Expected importFiles to be given a list of paths, got "a.json".',
  ],
  [
    'redactImport',
    () => config.redactImport(given(null)),
    'Expected redactImport to be given what importFiles gave, got null.',
  ],
  [
    'readPlaces',
    () => config.readPlaces(given('a.json')),
    'Expected readPlaces to be given a list of paths, got "a.json".',
  ],
  [
    'findUsualFiles',
    () => config.findUsualFiles(given(1)),
    'Expected the directory of findUsualFiles to be a string, got 1.',
  ],
  [
    'watchConfig',
    () => config.watchConfig(given('a.json')),
    'Expected watchConfig to be given a list of paths, got "a.json".',
  ],
  [
    'watchConfig',
    () => config.watchConfig([], { debounceMs: Number.NaN }),
    'Expected "debounceMs" of watchConfig to be milliseconds from 0 to 2147483647, got null.',
  ],
  [
    'watchConfig',
    () => config.watchConfig([], { scheduler: given({}) }),
    'Expected "scheduler" of watchConfig to be a scheduler of rxjs, got another object.',
  ],
  [
    'parseServerMap',
    () => config.parseServerMap({}, { onWarning: given(1) }),
    'Expected "onWarning" of parseServerMap to be a function, got 1.',
  ],
  [
    'parsePluginConfig',
    () => config.parsePluginConfig(given(undefined), { root: '/p' }),
    'Expected the text of parsePluginConfig to be a string, got nothing.',
  ],
  [
    'parsePluginConfig',
    () => config.parsePluginConfig('{}', given({})),
    'Expected the options of parsePluginConfig to have "root", got none.',
  ],
];

test.each(calls)('CA-1 %s says what it expected', async (_, call, message) => {
  const error = await new Promise((resolve) => {
    resolve(call());
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(message) as string });
});

test('CA-1 no function of holdfast/config is without such a check', () => {
  const functions = Object.entries(config).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  expect([...new Set(calls.map(([name]) => name))].toSorted()).toEqual(functions.toSorted());
});
