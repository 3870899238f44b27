// NestJS: HttpModule with fresh tokens, a provider, and a graceful shutdown: npm run example nest
import 'reflect-metadata'
import { HttpModule, HttpService } from '@nestjs/axios'
import { Inject, Injectable, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { attachBearer, clientCredentials, createTokenManager, type TokenManager } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import { firstValueFrom } from 'rxjs'

const service = await startTokenService()
const TOKENS = Symbol('tokens')

@Injectable()
class TokenLifecycle implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(HttpService) private readonly http: HttpService,
    @Inject(TOKENS) private readonly tokens: TokenManager,
  ) {}

  onModuleInit(): void {
    attachBearer(this.http.axiosRef, this.tokens)
  }

  onApplicationShutdown(): Promise<void> {
    return this.tokens.close()
  }
}

@Injectable()
class WalletService {
  constructor(@Inject(HttpService) private readonly http: HttpService) {}

  async path(): Promise<string> {
    return (await firstValueFrom(this.http.get<{ path: string }>('/wallet'))).data.path
  }
}

@Module({
  imports: [HttpModule.register({ baseURL: service.baseUrl, timeout: 30_000 })],
  providers: [
    TokenLifecycle,
    WalletService,
    {
      provide: TOKENS,
      useFactory: () =>
        createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) }),
    },
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] })
app.enableShutdownHooks()
console.log('response:', await app.get(WalletService).path())
await app.close()
await service.close()
