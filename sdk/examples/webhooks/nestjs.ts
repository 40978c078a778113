import 'reflect-metadata';
import { type CaudalEvent, webhooks } from '@caudal/sdk';
import { Controller, Module, Post, type RawBodyRequest, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Request, Response } from 'express';

// In production: a table with the event id as primary key, written in the transaction that applies the event.
const processed = new Set<string>();

async function onEvent(event: CaudalEvent): Promise<void> {
  if (processed.has(event.id)) return;
  console.log(JSON.stringify({ id: event.id, event: event.event }));
  processed.add(event.id);
}

const receive = webhooks.receiver({ secret: process.env.CAUDAL_WEBHOOK_SECRET, onEvent });

@Controller('webhooks')
class WebhooksController {
  @Post()
  async receive(@Req() request: RawBodyRequest<Request>, @Res() response: Response): Promise<void> {
    const { status, body } = await receive(request.rawBody, request.headers);
    response.status(status).send(body);
  }
}

@Module({ controllers: [WebhooksController] })
class AppModule {}

async function bootstrap(): Promise<void> {
  // rawBody: the signature covers the body as it was sent.
  const app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error', 'warn'] });
  await app.listen(Number(process.env.PORT ?? 3000));
}
void bootstrap();
