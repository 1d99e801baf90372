/** What `npm run explore` says: the counts of every scope, and how each planted fault was found. */
import { describeViolation } from '../../src/testing/explore/explore.ts';
import type { Exploration, ExploreProgress, Violation } from '../../src/testing/explore/types.ts';
import type { Fault } from './faults.ts';
import { describeMove } from './moves.ts';
import type { Move } from './moves.ts';
import { exploreThread, findFault } from './run.ts';
import type { Scope } from './scope.ts';

interface Wrong {
  readonly invariant: string;
  readonly message: string;
  readonly path: readonly string[];
}

export interface ScopeReport {
  readonly scope: Scope;
  readonly states: number;
  readonly transitions: number;
  readonly maxDepth: number;
  /** Every state that can be reached was reached. */
  readonly complete: boolean;
  readonly violations: readonly Wrong[];
  /** Paths walked anew on actors that were never saved, and how many ended elsewhere. */
  readonly replays: { readonly paths: number; readonly mismatches: number };
  readonly seconds: number;
}

export interface FaultReport {
  readonly fault: string;
  readonly breaks: string;
  /** It was found, as a violation of the invariant it breaks, and its path replays. */
  readonly found: boolean;
  readonly states: number;
  readonly violation?: Wrong;
}

export interface Report {
  readonly states: number;
  readonly transitions: number;
  readonly maxDepth: number;
  readonly complete: boolean;
  readonly violations: number;
  readonly replays: { readonly paths: number; readonly mismatches: number };
  readonly faults: { readonly planted: number; readonly found: number; readonly reports: readonly FaultReport[] };
  readonly scopes: readonly ScopeReport[];
  readonly seconds: number;
}

/** How many paths of a scope are walked anew. */
const replayCount = 200;

export async function reportScope(scope: Scope, onProgress: (progress: ExploreProgress) => void): Promise<ScopeReport> {
  const began = performance.now();
  const found = await exploreThread(scope, { shortcuts: true, onProgress });
  const { states, transitions, maxDepth, complete } = found;
  const replays = await replaySome(found);
  return {
    scope,
    states,
    transitions,
    maxDepth,
    complete,
    violations: found.violations.map(inWords),
    replays,
    seconds: secondsSince(began),
  };
}

export async function reportFault(fault: Fault, scope: Scope): Promise<FaultReport> {
  const explored = await findFault(fault, scope);
  const [violation] = explored.violations;
  const base = { fault: fault.name, breaks: fault.breaks, states: explored.states };
  if (violation === undefined) return { ...base, found: false };
  const replayed = await explored.replay(violation.path);
  const isReplayed = replayed.violations.some(({ message }) => message === violation.message);
  return {
    ...base,
    found: isReplayed && violation.invariant.startsWith(`${fault.breaks} `),
    violation: inWords(violation),
  };
}

export function summarize(scopes: readonly ScopeReport[], faults: readonly FaultReport[], began: number): Report {
  const sum = (numberOf: (report: ScopeReport) => number): number =>
    scopes.reduce((total, report) => total + numberOf(report), 0);
  return {
    states: sum(({ states }) => states),
    transitions: sum(({ transitions }) => transitions),
    maxDepth: Math.max(...scopes.map(({ maxDepth }) => maxDepth)),
    complete: scopes.every(({ complete }) => complete),
    violations: sum(({ violations }) => violations.length),
    replays: { paths: sum(({ replays }) => replays.paths), mismatches: sum(({ replays }) => replays.mismatches) },
    faults: { planted: faults.length, found: faults.filter(({ found }) => found).length, reports: faults },
    scopes,
    seconds: secondsSince(began),
  };
}

/** Nothing is violated, everything was seen, nothing was seen that does not replay, and every fault was found. */
export function isGood({ complete, violations, replays, faults }: Report): boolean {
  return complete && violations === 0 && replays.mismatches === 0 && faults.found === faults.planted;
}

/** A violation and its path, as `describeViolation` writes it. */
export function linesOf({ invariant, message, path }: Wrong): string {
  return describeViolation({ invariant, message, path }, (words) => words);
}

async function replaySome(found: Exploration<Move>): Promise<ScopeReport['replays']> {
  const paths = Math.min(replayCount, found.states);
  let mismatches = 0;
  for (let count = 0; count < paths; count += 1) {
    const { path, key } = found.state(Math.floor((count * found.states) / paths));
    const replayed = await found.replay(path);
    if (replayed.key !== key) mismatches += 1;
  }
  return { paths, mismatches };
}

function inWords({ invariant, message, path }: Violation<Move>): Wrong {
  return { invariant, message, path: path.map(describeMove) };
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
