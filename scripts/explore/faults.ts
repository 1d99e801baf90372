/** Faults to be found: small changes of the real machines, and of the façade that makes calls. */
import { sendRequest } from './calls.ts';
import type { LiveOf, Machines, ProvideOptions } from './provide.ts';

export interface Fault {
  readonly name: string;
  /** The invariant it breaks, by its id. */
  readonly breaks: string;
  readonly plant: Omit<ProvideOptions, 'shortcuts'>;
}

/** The three that `npm run explore` plants. */
export const faults: readonly Fault[] = [
  {
    name: 'the router forgets to unregister',
    breaks: 'H4',
    plant: inMachines(({ router }) => ({ router: router.provide({ actions: { remember: nothing } }) })),
  },
  {
    name: 'a runtime stops one holder early',
    breaks: 'H3',
    plant: inMachines(({ runtime }) => ({
      runtime: runtime.provide({ guards: { isFree: ({ context }) => Object.keys(context.holders).length <= 1 } }),
    })),
  },
  {
    name: 'a step reads the current runtime instead of its own',
    breaks: 'H1',
    plant: { pinOf: ({ world }) => world.current },
  },
];

/** More of them, so that no invariant is one that nothing can break. */
export const moreFaults: readonly Fault[] = [
  {
    name: 'a runtime is published before its servers have settled',
    breaks: 'H2',
    plant: inMachines(({ runtime }) => ({ runtime: runtime.provide({ guards: { isSettled: () => true } }) })),
  },
  {
    name: 'a runtime never lets go of its holders',
    breaks: 'H3',
    plant: inMachines(({ runtime }) => ({ runtime: runtime.provide({ actions: { release: nothing } }) })),
  },
  {
    name: 'a call that ends leaves its question open',
    breaks: 'H5',
    plant: inMachines(({ call }) => ({ call: call.provide({ actions: { cancelQuestions: nothing } }) })),
  },
  {
    name: 'a call is sent again when its pause is over',
    breaks: 'H6',
    plant: inMachines(({ call }, liveOf) => ({
      call: call.provide({
        actions: {
          announceResumed: ({ context, system }) => {
            sendRequest(liveOf(system), context);
          },
        },
      }),
    })),
  },
  {
    name: 'a question is not registered before it is shown',
    breaks: 'H7',
    plant: inMachines(({ elicitation }) => ({ elicitation: elicitation.provide({ actions: { register: nothing } }) })),
  },
  {
    name: 'the router enters every token it is asked for',
    breaks: 'H8',
    plant: inMachines(({ router }) => ({
      router: router.provide({
        guards: {
          isOpen: ({ context }, { token }) => {
            const isOpen = context.open[token] === true;
            context.open[token] = true;
            return isOpen;
          },
        },
      }),
    })),
  },
];

function inMachines(change: (machines: Machines, liveOf: LiveOf) => Partial<Machines>): Fault['plant'] {
  return { plant: (machines, liveOf) => ({ ...machines, ...change(machines, liveOf) }) };
}

function nothing(): void {
  // A slot that does nothing.
}
