import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallInFlight } from '../../src/domain/attribution.ts';
import { attribute } from '../../src/domain/attribution.ts';

function call(id: string, request?: string): CallInFlight {
  return { call: id, step: 's', generation: 1, ...(request === undefined ? {} : { request }) };
}

test('EL-11 the stream of a request names its call among many', () => {
  expect(attribute({ request: '2' }, [call('a', '1'), call('b', '2')])).toEqual({
    attribution: 'call',
    call: call('b', '2'),
  });
});

test('EL-11 the only call in flight asked', () => {
  expect(attribute({}, [call('a')])).toEqual({ attribution: 'call', call: call('a') });
});

test('EL-11 with several calls in flight all are candidates, in their order', () => {
  expect(attribute({}, [call('b'), call('a')])).toEqual({
    attribution: 'ambiguous',
    candidates: [call('b'), call('a')],
  });
});

test('EL-11 with no call in flight the server asked', () => {
  expect(attribute({}, [])).toEqual({ attribution: 'server' });
  expect(attribute({ request: '1' }, [])).toEqual({ attribution: 'server' });
});

test('EL-11 a question on the stream of another request is not pinned on the calls in flight', () => {
  expect(attribute({ request: '9' }, [call('a', '1')])).toEqual({ attribution: 'server' });
  expect(attribute({ request: '9' }, [call('a', '1'), call('b')])).toEqual({ attribution: 'server' });
});

test('EL-11 a call that is on the wire twice is one candidate', () => {
  expect(attribute({}, [call('a', '1'), call('a', '2')])).toEqual({ attribution: 'call', call: call('a', '1') });
});

test('EL-11 what is attributed is always in flight, and to one call only where no other is possible', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const request = fc.constantFrom('1', '2', '3');
  const inFlight = fc.array(fc.tuple(id, fc.option(request, { nil: undefined })).map(([name, key]) => call(name, key)));
  fc.assert(
    fc.property(fc.option(request, { nil: undefined }), inFlight, (asked, calls) => {
      const possible = new Set(
        calls.filter((each) => asked === undefined || each.request === asked).map((each) => each.call),
      );
      const result = attribute(asked === undefined ? {} : { request: asked }, calls);
      const named =
        result.attribution === 'call' ? [result.call] : result.attribution === 'ambiguous' ? result.candidates : [];
      expect(new Set(named.map((each) => each.call))).toEqual(possible);
      expect(named.length).toBe(possible.size);
      for (const each of named) expect(calls).toContain(each);
      expect(result.attribution).toBe(['server', 'call'][possible.size] ?? 'ambiguous');
    }),
  );
});
