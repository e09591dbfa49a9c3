/**
 * What an agent's commands may reach of the network: nothing, hosts that the person listed, or
 * every public address. Pure.
 */
import { urlOf } from './platform/old-browsers.ts';

export type Network = 'none' | 'all' | readonly string[];

/** Maximum number of hosts per agent. */
export const MOST_HOSTS = 50;

/** Ports that a host without a port allows: HTTP and HTTPS. */
const USUAL_PORTS = [80, 443];
const HOST = /^(?<name>(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,62}\.)*[a-z0-9-]{0,62})(?::(?<port>\d{1,5}))?$/;

/**
 * `example.org`, `example.org:8443`, or `*.example.org`, which matches all subdomains but not
 * `example.org` itself.
 */
export const isHost = (text: string): boolean => text.length <= 260 && HOST.test(text);

/**
 * Whether this is one exact host name: no pattern, and spelled as URLs normalise it. A name such as
 * `0x7f.1` is another host than it seems.
 */
export function isExactHost(text: string): boolean {
  if (!isHost(text) || text.startsWith('*')) return false;
  const { name = '', port } = HOST.exec(text)?.groups ?? {};
  return urlOf(`http://${name}`)?.hostname === name && !name.endsWith('.') && (port === undefined || isPort(port));
}
const isPort = (text: string) => !text.startsWith('0') && Number(text) <= 65_535;

/** The name of a host, without its port. */
export const nameOfHost = (host: string): string => HOST.exec(host)?.groups?.['name'] ?? host;

function fits(named: string, host: string, port: number): boolean {
  const { name = '', port: own } = HOST.exec(named)?.groups ?? {};
  if (own === undefined ? !USUAL_PORTS.includes(port) : Number(own) !== port) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name;
}

/** Whether `wide` allows everything that `narrow` allows. */
export const covers = (wide: Network, narrow: Network): boolean =>
  wide === 'all' ||
  narrow === 'none' ||
  (wide !== 'none' && narrow !== 'all' && narrow.every((host) => wide.includes(host)));

/** `host`: a lower-case name, or an IP address, as in a parsed URL. */
export const mayReach = (network: Network, host: string, port: number): boolean =>
  network === 'all' || (network !== 'none' && network.some((named) => fits(named, host, port)));
