/**
 * The key of a state: what of it matters for what comes.
 *
 * - Steps differ only in name, and so do the calls of a step: states that become equal when they are renamed are one. The
 *   names are given anew in the order of what they stand for.
 * - What has ended is forgotten: an ended step's runtime and calls, an ended call's question, how a question ended. Only
 *   a late answer still asks for that, and the router says what it said when the question ended.
 * - What is given with a name and never changes (the arguments of a call, the text of a question) is left out.
 */
import { isRecord } from '../../src/domain/json.ts';
import { stepSystemId } from '../../src/machines/thread.ts';
import { canonicalJson } from '../../src/testing/explore/canonical.ts';
import { callsOf, stepsOf, tokenOf } from './scope.ts';
import type { Scope } from './scope.ts';
import { savedThread } from './system.ts';
import type { World } from './world.ts';

/** Makes `key` of `explore` for one scope. */
export function threadKey(scope: Scope): (saved: unknown) => string {
  const steps = stepsOf(scope).map((step) => ({ step, calls: callsOf(scope, step) }));
  const names = steps.flatMap(({ step, calls }) => [
    step,
    stepSystemId(step),
    ...calls.flatMap((call) => [call, tokenOf(call)]),
  ]);
  const isName = new Set(names);
  const masked = (text: string): string => (isName.has(text) ? '#' : text);

  return (value) => {
    const given = savedThread(value);
    if (given === undefined) return canonicalJson(value);
    const matter = { actors: essence('thread', given.actors), world: withoutEnded(given.world) };
    const found = steps.map(({ step, calls }) => {
      const sorted = inOrder(
        calls.map((call) => ({ call, text: canonicalJson(aboutCall(matter, step, call), masked) })),
      );
      const about = sorted.map(({ text }) => text).join();
      return { step, calls: sorted, text: canonicalJson(matter.world.steps[step]) + about };
    });
    const renamed = new Map<string, string>();
    for (const [index, { step, calls }] of inOrder(found).entries()) {
      const target = steps[index];
      if (target === undefined) continue;
      renamed.set(step, target.step).set(stepSystemId(step), stepSystemId(target.step));
      for (const [place, { call }] of calls.entries()) {
        const as = target.calls[place] ?? call;
        renamed.set(call, as).set(tokenOf(call), tokenOf(as));
      }
    }
    return canonicalJson(matter, (text) => renamed.get(text) ?? text);
  };
}

interface Matter {
  readonly actors: Essence;
  readonly world: World;
}

function withoutEnded(world: World): World {
  const steps = { ...world.steps };
  const calls = { ...world.calls };
  const questions = { ...world.questions };
  for (const [step, { state }] of Object.entries(steps)) if (state === 'ended') steps[step] = { generation: 0, state };
  for (const [token, { state, call }] of Object.entries(questions))
    if (state === 'settled' && calls[call]?.state === 'ended') delete questions[token];
  for (const [call, { step, state }] of Object.entries(calls))
    if (steps[step]?.state === 'ended') delete calls[call];
    else if (state === 'ended') calls[call] = { step, generation: 0, state, sends: 0 };
  return { ...world, steps, calls, questions };
}

interface Essence {
  readonly value: unknown;
  readonly context: unknown;
  readonly children: Readonly<Record<string, Essence>>;
}

/** The state, the changing data and the children of a saved actor. */
function essence(id: string, saved: unknown): Essence {
  const actor = isRecord(saved) ? saved : {};
  const children = isRecord(actor['children']) ? actor['children'] : {};
  return {
    value: [actor['status'], actor['value'], actor['draining']],
    context: id === 'router' ? routerEssence(actor['context']) : contextEssence(actor['context']),
    children: Object.fromEntries(
      Object.entries(children).map(([name, child]) => [
        name,
        essence(name, isRecord(child) ? child['snapshot'] : child),
      ]),
    ),
  };
}

function contextEssence(context: unknown): unknown {
  if (!isRecord(context)) return context;
  const { input, elicitation, failure, opened, round, ...rest } = context;
  const generation = isRecord(input) ? input['generation'] : undefined;
  const attribution = isRecord(elicitation) ? [elicitation['attribution'], elicitation['generation']] : undefined;
  return {
    ...rest,
    generation: generation ?? rest['generation'],
    attribution,
    failed: failure !== null,
    opened: opened !== null,
    round: isRecord(round) && isRecord(round['responses']) ? Object.keys(round['responses']) : round,
  };
}

/** The router without its memory of settled tokens. */
function routerEssence(context: unknown): unknown {
  return isRecord(context) ? context['open'] : context;
}

/** Everything that hangs on the name of a call. */
function aboutCall({ actors, world }: Matter, step: string, call: string): readonly unknown[] {
  const calls = actors.children['steps']?.children[step]?.children['calls'];
  return [world.calls[call], world.questions[tokenOf(call)], calls?.children[call]];
}

function inOrder<TItem extends { readonly text: string }>(items: readonly TItem[]): readonly TItem[] {
  return items.toSorted((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0));
}
