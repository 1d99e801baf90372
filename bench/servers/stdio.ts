/** The echo server as a process over stdio. Its one argument is the era. */
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseEra, serve } from './serve.ts';

await serve(parseEra(process.argv[2]), new StdioServerTransport());
