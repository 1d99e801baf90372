#!/usr/bin/env node
/** The `holdfast` command. */
import { readFileSync } from 'node:fs';
import { createThread } from '../index.ts';
import { catchStrays, onSignal, openStdout, startDirectory } from './process-io.ts';
import { runProgram } from './program.ts';
import { isObject } from './values.ts';

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return isObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : 'unknown';
}

catchStrays();
const directory = startDirectory();
const code = await runProgram(process.argv.slice(2), {
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  env: process.env,
  directory,
  version: readVersion(),
  createThread,
  onSignal,
  openStdout,
});
// Nothing is left that could be worth waiting for: every thread is closed.
process.exit(code);
