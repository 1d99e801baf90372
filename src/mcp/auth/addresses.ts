/**
 * Which addresses metadata and tokens may be fetched from (SPEC SE-2).
 *
 * A server decides where its authorization server is; it must not make this machine look around in a network the server is
 * not in itself.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { HoldfastError } from '../../domain/errors.ts';
import { clip } from '../wire.ts';

/** Where an address is, as far as it matters here. */
export type Reach = 'public' | 'private' | 'loopback' | 'linkLocal';

const loopback = listOf(['127.0.0.0/8', '::1/128']);
const linkLocal = listOf(['169.254.0.0/16', 'fe80::/10']);
/** Each is a network of its own. */
const privateNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '2002::/16',
  'fc00::/7',
  'ff00::/8',
].map((network) => ({ network, list: listOf([network]) }));

/** Says where an IP address is. An IPv4 address written as IPv6 is the IPv4 address; one that is translated is not looked into. */
export function reachOf(address: string): Reach {
  return placeOf(address).reach;
}

/** A network an address is in: a private one is named by its range. */
interface Place {
  readonly reach: Reach;
  readonly network: string;
}

function placeOf(address: string): Place {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (loopback.check(address, family)) return { reach: 'loopback', network: 'loopback' };
  if (linkLocal.check(address, family)) return { reach: 'linkLocal', network: 'linkLocal' };
  const found = privateNetworks.find(({ list }) => list.check(address, family));
  return found === undefined ? { reach: 'public', network: 'public' } : { reach: 'private', network: found.network };
}

/**
 * Who may be asked on behalf of a server: everyone in public, and the networks the server itself is in. A server on this
 * machine is in none but this machine: what it says may come from anywhere.
 */
export class Neighbourhood {
  readonly #serverHost: string;
  readonly #trusted: ReadonlySet<string>;
  #places: Promise<readonly Place[]> | undefined;

  /** `trusted` are urls the person who configured the server wrote down. */
  constructor(serverUrl: string, trusted: readonly (string | undefined)[] = []) {
    this.#serverHost = hostOf(serverUrl) ?? '';
    this.#trusted = new Set(trusted.map((url) => (url === undefined ? undefined : hostOf(url))).filter(isText));
  }

  /** @throws HoldfastError `protocol_error` for a host that is an address nobody should be sent to. */
  async check(url: URL): Promise<void> {
    const host = bare(url.hostname);
    if (isIP(host) !== 0) await this.#allow(host, host);
  }

  /** Resolves names, and refuses what {@link check} would: for sockets. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const passed = Promise.all(found.map(({ address }) => this.#allow(hostname, address)));
      passed.then(
        () => {
          const [first] = found;
          if (options.all === true) callback(null, found);
          else callback(null, first?.address ?? '', first?.family);
        },
        (refused: unknown) => {
          callback(refused instanceof Error ? refused : new Error(String(refused)), '');
        },
      );
    });
  };

  async #allow(host: string, address: string): Promise<void> {
    const { reach, network } = placeOf(address);
    if (reach === 'public' || this.#trusted.has(host)) return;
    this.#places ??= placesOf(this.#serverHost);
    const own = await this.#places;
    if (own.some((place) => place.network === network)) return;
    const at = host === address ? '' : ` (${address})`;
    const from = own.length === 0 ? 'somewhere unknown' : own.map((place) => named(place)).join(' and ');
    throw new HoldfastError(
      'protocol_error',
      `Expected the authorization server to be in public or where the server is (${from}), got "${clip(host)}"${at}: ${named({ reach, network })}. It was not asked. If it is right, set "oauth.issuer" to its url.`,
    );
  }
}

function named({ reach, network }: Place): string {
  switch (reach) {
    case 'public':
      return 'a public address';
    case 'private':
      return `a private address of ${network}`;
    case 'loopback':
      return 'a loopback address of this machine';
    case 'linkLocal':
      return 'a link-local address';
  }
}

function placesOf(host: string): Promise<readonly Place[]> {
  if (isIP(host) !== 0) return Promise.resolve([placeOf(host)]);
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      const places = error === null ? found.map(({ address }) => placeOf(address)) : [];
      resolve(places.filter(({ network }, index) => places.findIndex((each) => each.network === network) === index));
    });
  });
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? bare(new URL(url).hostname) : undefined;
}

function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix = '0'] = subnet.split('/');
    list.addSubnet(network, Number(prefix), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}
